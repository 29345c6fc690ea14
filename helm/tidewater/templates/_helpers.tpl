{{- define "tidewater.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "tidewater.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "tidewater.selectorLabels" -}}
app.kubernetes.io/name: {{ include "tidewater.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tidewater.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "tidewater.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: tidewater
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "tidewater.image" -}}
{{- $repository := .Values.image.repository }}
{{- if .Values.image.registry }}{{ $repository = printf "%s/%s" .Values.image.registry $repository }}{{ end }}
{{- if .Values.image.digest }}
{{- printf "%s@%s" $repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{- define "tidewater.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "tidewater.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "tidewater.configMapName" -}}
{{- default (printf "%s-config" (include "tidewater.fullname" .)) .Values.existingConfigMap }}
{{- end }}

{{- define "tidewater.claimName" -}}
{{- default (printf "%s-tables" (include "tidewater.fullname" .)) .Values.persistence.existingClaim }}
{{- end }}

{{- define "tidewater.port" -}}
{{- dig "server" "port" 9464 .Values.config | int }}
{{- end }}

{{/* Names of the roles that run, in a fixed order. */}}
{{- define "tidewater.enabledRoles" -}}
{{- $names := list }}
{{- range $name, $role := .Values.roles }}{{ if $role.enabled }}{{ $names = append $names $name }}{{ end }}{{ end }}
{{- join "," (sortAlpha $names) }}
{{- end }}
