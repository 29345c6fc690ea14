# syntax=docker/dockerfile:1

# The newest line of Node with long support; docs/adr/0010-lines-of-node.md says when it moves. Whoever builds for production names the image
# by its digest: --build-arg NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:…
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY scripts/build.mjs ./scripts/build.mjs
RUN node scripts/build.mjs && npm prune --omit=dev --no-audit --no-fund

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="tidewater" \
      org.opencontainers.image.description="Kafka topics to Delta Lake and Apache Iceberg tables and back again as change feeds, exactly once both ways" \
      org.opencontainers.image.licenses="Apache-2.0"
WORKDIR /app
# tini: signals and orphans are seen to when this process is number one.
RUN apt-get update && apt-get install -y --no-install-recommends tini && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 tidewater && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/tidewater tidewater \
    && install -d -o 10001 -g 10001 /var/lib/tidewater /etc/tidewater
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY config ./config
COPY examples/data ./examples/data
ENV NODE_ENV=production
USER 10001:10001
VOLUME /var/lib/tidewater
EXPOSE 9464
# Longer than a commit may take: see terminationGracePeriodSeconds in the chart.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["node", "-e", "fetch('http://127.0.0.1:9464/livez').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/usr/bin/tini", "--", "node", "/app/dist/main.js"]
CMD ["serve", "--config", "/etc/tidewater/tidewater.yaml"]
