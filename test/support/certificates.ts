import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate and its key: files for servers that take paths, and what the certificate's file holds. */
export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly pem: string;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** Made anew for each run by the `openssl` of this machine, since node:crypto signs no certificates. */
export class CertificateAuthority {
  readonly #folder = mkdtempSync(join(tmpdir(), 'floodgate-certificates-'));
  readonly certificate: Certificate;

  constructor(readonly name: string) {
    this.certificate = this.#made(name, ['req', '-x509', ...NEW_KEY, '-days', '2', '-subj', `/CN=${name}`]);
  }

  /** @param names what it is valid for, as openssl writes them: `DNS:localhost`, `IP:127.0.0.1` */
  issue(name: string, ...names: readonly string[]): Certificate {
    const request = join(this.#folder, `${name}.csr`);
    const extensions = join(this.#folder, `${name}.ext`);
    writeFileSync(extensions, `basicConstraints=critical,CA:FALSE\nsubjectAltName=${names.join(',')}\n`);
    const { certFile, keyFile } = this.#filesOf(name);
    openssl('req', '-new', ...NEW_KEY, '-subj', `/CN=${name}`, '-keyout', keyFile, '-out', request);
    const authority = ['-CA', this.certificate.certFile, '-CAkey', this.certificate.keyFile, '-CAcreateserial'];
    openssl('x509', '-req', '-days', '2', '-in', request, ...authority, '-extfile', extensions, '-out', certFile);
    return { certFile, keyFile, pem: readFileSync(certFile, 'utf8') };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #made(name: string, command: readonly string[]): Certificate {
    const { certFile, keyFile } = this.#filesOf(name);
    openssl(...command, '-keyout', keyFile, '-out', certFile);
    return { certFile, keyFile, pem: readFileSync(certFile, 'utf8') };
  }

  #filesOf(name: string): { certFile: string; keyFile: string } {
    return { certFile: join(this.#folder, `${name}.crt`), keyFile: join(this.#folder, `${name}.key`) };
  }
}

function openssl(...command: readonly string[]): void {
  try {
    execFileSync('openssl', command, { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (cause) {
    throw new Error('The tests of TLS need the openssl command (Debian: apt-get install openssl).', { cause });
  }
}
