import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** An authority (`ca.pem`) and a certificate for localhost (`server.key`, `server.crt`, `keystore.pem`), straight as PEM: no Java key store. */
export function makeCertificates(dir: string): void {
  if (existsSync(join(dir, 'keystore.pem'))) return;
  mkdirSync(dir, { recursive: true });
  const openssl = (...args: readonly string[]): void => {
    execFileSync('openssl', [...args], { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
  };
  const key = ['-newkey', 'rsa:2048', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '30', '-subj', '/CN=tidewater-test-ca');
  openssl('req', ...key, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost');
  writeFileSync(join(dir, 'names.cnf'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
  const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '30', '-extfile', 'names.cnf'];
  openssl('x509', '-req', '-in', 'server.csr', '-out', 'server.crt', ...signing);
  openssl('pkcs8', '-topk8', '-nocrypt', '-in', 'server.key', '-out', 'server.p8');
  writeFileSync(join(dir, 'keystore.pem'), readFileSync(join(dir, 'server.p8'), 'utf8') + readFileSync(join(dir, 'server.crt'), 'utf8'));
}
