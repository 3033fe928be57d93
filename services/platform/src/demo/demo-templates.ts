import type { LoggedIn, TemplateCreate } from '@countersign/contracts';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';

/** What a first start publishes, so that there is something to ask for: a text to edit, an amount to judge, a command that cannot be undone. */
const DEMO_TEMPLATES: readonly TemplateCreate[] = [
  {
    slug: 'email-draft',
    name: 'E-mail draft',
    description: 'An e-mail an agent wants to send.',
    instructions: 'Read it as the recipient would, and edit it where needed. Exactly what you approve is sent.',
    fields: [
      { name: 'to', type: 'text', label: 'To', required: true },
      { name: 'subject', type: 'text', label: 'Subject', required: true, editable: true },
      { name: 'body', type: 'markdown', label: 'Message', required: true, editable: true },
    ],
    actions: ['approve', 'reject', 'request_changes'],
    max_iterations: 5,
  },
  {
    slug: 'refund',
    name: 'Refund',
    description: 'A refund an agent wants to issue.',
    instructions: 'Check the amount against the order. The reason is sent to the customer.',
    default_priority: 'high',
    fields: [
      { name: 'customer', type: 'text', label: 'Customer', required: true },
      { name: 'order_url', type: 'url', label: 'Order' },
      { name: 'amount', type: 'number', label: 'Amount', required: true, editable: true },
      { name: 'currency', type: 'select', label: 'Currency', options: ['EUR', 'USD', 'GBP'], required: true },
      { name: 'reason', type: 'text', label: 'Reason', required: true, editable: true },
    ],
    actions: ['approve', 'reject', 'request_changes'],
    timeout_seconds: 86_400,
    timeout_action: 'expire',
    approval_valid_seconds: 3_600,
  },
  {
    slug: 'production-change',
    name: 'Production change',
    description: 'A command an agent wants to run in production.',
    instructions: 'Nothing here can be edited. Approve it as is, or reject it and say why.',
    default_priority: 'critical',
    fields: [
      { name: 'summary', type: 'text', label: 'What it does', required: true },
      { name: 'command', type: 'text', label: 'Command', required: true },
      { name: 'parameters', type: 'json', label: 'Parameters' },
      { name: 'dry_run', type: 'boolean', label: 'Dry run passed' },
    ],
    actions: ['approve', 'reject'],
    allow_request_changes: false,
    timeout_seconds: 14_400,
    timeout_action: 'auto_reject',
    approval_valid_seconds: 900,
  },
];

/** Sends a JSON body to the public API and gives the answer. */
export type Post = (path: string, body: object, bearer?: string) => Promise<{ status: number; body: unknown }>;

/** Publishes them as a person does: over the API, in a session that is ended afterwards. A slug that is taken is left as it is. */
export async function publishDemoTemplates(send: Post, signInToken: string): Promise<void> {
  const post = async (path: string, body: object, bearer?: string) => {
    const answer = await send(`/api/v1${path}`, body, bearer);
    if (answer.status >= 400 && (answer.body as { error?: { code: string } } | null)?.error?.code !== 'slug_already_exists') {
      throw new Error(`A demo template could not be published: ${path} answered ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    return answer.body;
  };
  const { token } = (await post('/auth/sign-in-link', { token: signInToken })) as LoggedIn;
  for (const template of DEMO_TEMPLATES) await post('/templates', template, token);
  await post('/auth/logout', {}, token);
}

/** Posts to a gateway in this process. */
export const injected =
  (gateway: NestFastifyApplication): Post =>
  async (path, body, bearer) => {
    const answer = await gateway.inject({ method: 'POST', url: path, headers: headersOf(bearer), payload: JSON.stringify(body) });
    return { status: answer.statusCode, body: answer.body === '' ? null : (JSON.parse(answer.body) as unknown) };
  };

/** Posts to a server at an address. */
export const sent =
  (url: string): Post =>
  async (path, body, bearer) => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers: headersOf(bearer), body: JSON.stringify(body) });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : (JSON.parse(text) as unknown) };
  };

const headersOf = (bearer?: string): Record<string, string> => ({
  'content-type': 'application/json',
  ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
});
