import type { Answer, Server } from './server.js';
import { PASSWORD } from './server.js';

/** For specs of signing in: somebody new for every test, and how their browser and a stranger's come in. */
export interface Newcomer {
  email: string;
  person: string;
  login(options?: { email?: string; password?: string; ip?: string; device?: string; [field: string]: unknown }): Promise<Answer>;
  /** Wrong passwords, one after the other. @returns the last answer. */
  fail(times: number, options?: { ip?: string; device?: string }): Promise<Answer>;
}

export const HOME = '203.0.113.1';

/** Headers as the gateway passes them on. */
export const from = (ip: string, device?: string): Record<string, string> => ({
  'countersign-client-ip': ip,
  ...(device ? { cookie: `countersign_device=${device}` } : {}),
});

let count = 0;

export async function newcomer(server: Server, project: string): Promise<Newcomer> {
  const email = `person-${++count}@example.com`;
  const person = await server.person(project, email, 'reviewer');
  const login: Newcomer['login'] = ({ ip = HOME, device, ...body } = {}) =>
    server.ask(null, 'POST', '/api/v1/auth/login', { email, password: PASSWORD, ...body }, from(ip, device));
  return {
    email,
    person,
    login,
    async fail(times, options) {
      let last: Answer | undefined;
      for (let n = 0; n < times; n++) last = await login({ ...options, password: 'not the password at all' });
      return last as Answer;
    },
  };
}

/** The mark a sign-in with `cookie: true` left on the device. */
export const markOf = (answer: Answer): string =>
  /countersign_device=([^;]+)/.exec((answer.headers['set-cookie'] as string[] | undefined)?.[1] ?? '')?.[1] ?? '';
