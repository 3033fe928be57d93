import { Answers, type OpenApi } from '../../e2e/answers.js';
import { Caller } from '../../e2e/server.js';
import { type Figure, measured, ratio, type Side } from '../figure.js';
import { beside, forkedSide } from '../stage/forked.js';
import { type Product, startProduct, TOPOLOGIES } from '../stage/product.js';

const FLOODING = 64;
const WORKING = 20;

export const FLOOD: Figure = {
  name: 'flood',
  title: 'one project flooding while another works',
  topology: `${TOPOLOGIES.store} ${WORKING} requests and decisions a second in one project; ${FLOODING} connections that ask without a pause in another.`,
  beside: 'the first project alone.',
  claims: [
    { what: 'p99, of alone', unit: '×', value: ratio('p99_ms', 'flooded', 'alone'), better: 'less', required: 2, goal: 1.2 },
    { what: 'p99 beside a flood', unit: 'ms', value: (round) => measured(round, 'flooded', 'p99_ms'), better: 'less' },
  ],
  seconds: 10,
  async open(stage) {
    const product = await startProduct('store', stage);
    const { access } = product;
    const work = await forkedSide(beside(import.meta, './worker-load'), { ...access, rate: WORKING });
    const flood = await forkedSide(beside(import.meta, './flood-load'), {
      ...access,
      key: await strangersKey(product),
      connections: FLOODING,
    });
    const flooded: Side = {
      async round(seconds) {
        const [sample, { per_s, refused_count }] = await Promise.all([work.round(seconds), flood.round(seconds)]);
        return { ...sample, flood_per_s: per_s as number, flood_refused_count: refused_count as number };
      },
      close: () => flood.close(),
    };
    return { sides: { alone: work, flooded }, close: () => product.stop() };
  },
};

/** A key of another project, which has a template of the same name. */
async function strangersKey({ topology, access: { url } }: Product): Promise<string> {
  const answers = new Answers((await (await fetch(`${url}/api/v1/openapi.json`)).json()) as OpenApi);
  const as = (bearer: string | null | undefined) => new Caller(url, bearer ?? null, answers);
  const { id: project } = await topology.operate<{ id: string }>('projects', 'create', 'Strangers');
  const person = ['--email', 'ann@strangers.example', '--name', 'Ann', '--role', 'admin'];
  const { sign_in_url } = await topology.operate<{ sign_in_url: string }>('users', 'create', '--project', project, ...person);
  const link = await as(null).do('exchangeSignInLink', { body: { token: /[^/#=]+$/.exec(sign_in_url)?.[0] ?? '' } });
  const password = 'a-long-sentence-nobody-guesses-7';
  await as(link.token).do('changePassword', { body: { new_password: password } });
  const { token } = await as(null).do('login', { body: { email: 'ann@strangers.example', password } });
  await as(token).do('createTemplate', {
    body: {
      slug: 'email-draft',
      name: 'E-mail draft',
      fields: [
        { name: 'to', type: 'text', label: 'To', required: true },
        { name: 'subject', type: 'text', label: 'Subject', required: true, editable: true },
        { name: 'body', type: 'markdown', label: 'Message', editable: true },
      ],
      actions: ['approve', 'reject'],
    },
  });
  const { raw_key } = await topology.operate<{ raw_key: string }>('keys', 'create', '--project', project, '--name', 'flood');
  return raw_key;
}
