/** A certificate for a broker on the loopback interface that nobody but its own clients trusts, made with Java's keytool. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface KeyStore {
  /** PKCS #12, with the certificate and its key. */
  file: string;
  password: string;
}

/** @returns the broker's key store, and the PEM file of the certificate its clients are to trust. */
export async function selfSignedKeyStore(folder: string): Promise<{ keyStore: KeyStore; certificate: string }> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const keyStore = { file: join(folder, 'broker.p12'), password: randomBytes(12).toString('hex') };
  const certificate = join(folder, 'broker.pem');
  const keytool = (...args: string[]) =>
    run('keytool', [...args, '-alias', 'broker', '-keystore', keyStore.file, '-storepass', keyStore.password]);
  await keytool(
    ...['-genkeypair', '-storetype', 'PKCS12', '-keyalg', 'EC', '-groupname', 'secp256r1', '-validity', '3650'],
    ...['-dname', 'CN=127.0.0.1', '-ext', 'san=ip:127.0.0.1,dns:localhost', '-ext', 'bc:c=ca:true'],
  );
  await keytool('-exportcert', '-rfc', '-file', certificate);
  return { keyStore, certificate };
}
