/**
 * R2: a GET changes nothing, whoever sends it and however it is dressed up. Mail gateways open every link they see, browsers fetch what might
 * be clicked, and neither decides anything nor uses up what a person was given once.
 */
import { request } from 'node:http';
import { OPERATIONS } from '@countersign/contracts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { footprint } from '../e2e/footprint.js';
import { Caller, Server } from '../e2e/server.js';
import { startAllInOne } from '../e2e/topology.js';
import { PASSWORD, tokenOf } from './actors.js';

let server: Server;
/** What a path parameter may stand for: a pending review, a decided one, a draft of a template, a delivery's place, a secret. */
let ids: string[];
let links: { signIn: string; invitation: string };

beforeAll(async () => {
  server = await Server.start(await startAllInOne({ PASSWORD_COST: '10' }));
  const { admin, topology } = server;
  const pending = await server.ask();
  const decided = await server.ask();
  await admin.act(decided.id, 'approve');
  const draft = await admin.do('createTemplateDraft', { body: { slug: 'drafted', auto_approve: true, name: 'Drafted', fields: [] } });
  const { sign_in_url } = await topology.operate<{ sign_in_url: string }>(
    ...['users', 'create', '--project', 'demo', '--email', 'linked@demo.example', '--name', 'Linked', '--role', 'reviewer'],
  );
  const { invite_url } = await admin.do('inviteMember', { body: { email: 'invited@demo.example', role: 'reviewer' } });
  links = { signIn: tokenOf(sign_in_url), invitation: tokenOf(invite_url) };
  ids = [pending.id, decided.id, draft.id, links.invitation, links.signIn];
  // Lists are written behind the log; what they show of the above is there before anything is compared.
  await admin.do('listReviews');
  await admin.do('listAuditEvents');
});
afterAll(() => server?.stop());

/** How somebody may come who only looks, or says so. */
const GUISES: Record<string, Record<string, string>> = {
  'a browser that prefetches': { purpose: 'prefetch', 'sec-purpose': 'prefetch;prerender', 'sec-fetch-mode': 'navigate' },
  'a scanner of links': { 'user-agent': 'Mozilla/5.0 (compatible; LinkScanner/1.0)', accept: '*/*' },
  'somebody who overrides the method': {
    'x-http-method-override': 'POST',
    'x-http-method': 'DELETE',
    'x-method-override': 'PUT',
    'content-type': 'application/json',
  },
};

/** With a body, which fetch would not send with these methods. */
function look(method: string, path: string, headers: Record<string, string>): Promise<number> {
  const body = '{"action_id":"approve","decision":"approved","token":"x","name":"x","password":"a-long-sentence-nobody-guesses-9"}';
  return new Promise((resolve, reject) => {
    const sent = request(
      `${server.url}${path}`,
      { method, headers: { ...headers, 'content-length': Buffer.byteLength(body) } },
      (response) => {
        // A stream has no end.
        if (response.headers['content-type']?.startsWith('text/event-stream')) response.destroy();
        response.resume().on('close', () => resolve(response.statusCode ?? 0));
      },
    );
    sent.on('error', reject).end(body);
  });
}

/** Every address of the table, filled with everything that is there, also those that only answer other methods. */
function addresses(): string[] {
  const filled = OPERATIONS.flatMap(({ path }) => (path.includes('{') ? ids.map((id) => path.replace(/\{\w+\}/, id)) : [path]));
  const disguised = `/api/v1/reviews/${ids[0]}?_method=POST&action_id=approve&decision=approved&force=true`;
  return [...new Set(filled), disguised];
}

const PAGES = () => [
  '/',
  '/login',
  `/login?link=${links.signIn}`,
  `/login/${links.signIn}`,
  `/api/v1/auth/sign-in-link?token=${links.signIn}`,
  '/invite',
  `/invite?token=${links.invitation}`,
  `/invite/${links.invitation}`,
  '/reviews',
  ...ids.flatMap((id) => [`/reviews/${id}`, `/reviews/${id}?action=approve`, `/reviews/${id}/approve`]),
];

describe.each(Object.entries(GUISES))('%s', (_, guise) => {
  it.each(['GET', 'HEAD', 'OPTIONS'])('changes nothing with %s', async (method) => {
    const { admin, agent, reviewer } = server;
    const credentials = [admin, reviewer, agent].map(({ bearer }) => ({ authorization: `Bearer ${bearer}` }));
    const cookie = { cookie: `countersign_session=${admin.bearer}`, 'sec-fetch-site': 'cross-site' };
    const before = await footprint(server.topology);
    const seen: [string, number][] = [];
    for (const path of [...addresses(), ...PAGES()]) {
      const answers = await Promise.all([...credentials, cookie, {}].map((credential) => look(method, path, { ...credential, ...guise })));
      seen.push(...answers.map((status): [string, number] => [path, status]));
    }
    expect(seen.filter(([, status]) => status >= 500)).toEqual([]);
    expect(new Set(seen.map(([, status]) => status)).size).toBeGreaterThan(1);
    expect(await footprint(server.topology)).toEqual(before);
  });
});

describe('after everybody has looked', () => {
  it('the sign-in link still signs in, once', async () => {
    const anybody = new Caller(server.url, null, server.answers);
    expect(await anybody.do('exchangeSignInLink', { body: { token: links.signIn } })).toMatchObject({
      reviewer: { email: 'linked@demo.example' },
    });
    expect(await anybody.refused('exchangeSignInLink', { body: { token: links.signIn } })).toEqual([401, 'invalid_sign_in_link']);
  });

  it('the invitation can still be accepted, once', async () => {
    const anybody = new Caller(server.url, null, server.answers);
    const body = { name: 'Invited', password: PASSWORD };
    expect(await anybody.do('acceptInvite', { path: { token: links.invitation }, body })).toMatchObject({
      reviewer: { email: 'invited@demo.example' },
    });
    expect(await anybody.refused('acceptInvite', { path: { token: links.invitation }, body })).toEqual([410, 'invite_used']);
  });

  it('a ticket still opens a stream, whose head nobody began', async () => {
    // Made now: it lives for a minute, and all those looks may take longer.
    const { ticket } = await server.agent.do('createStreamTicket');
    expect(await look('HEAD', `/api/v1/events/stream?ticket=${ticket}`, {})).toBe(405);
    expect(await look('GET', `/api/v1/events/stream?ticket=${ticket}`, {})).toBe(200);
    expect(await look('GET', `/api/v1/events/stream?ticket=${ticket}`, {})).toBe(401);
  });

  it('nobody has decided anything, and nothing was a fault of the server', async () => {
    expect(await server.agent.review(ids[0] as string)).toMatchObject({ status: 'pending', decision: null, held_by: null });
    expect((await server.admin.do('getTemplate', { path: { id: ids[2] as string } })).status).toBe('draft');
    expect(server.topology.inspect().log).toBe('');
  });
});
