/**
 * What somebody would write in the product's place: a Fastify handler that validates and inserts, and one that updates what is still
 * pending. No identity, no history, no telemetry.
 */
import { once } from 'node:events';
import { fastify } from 'fastify';
import pg from 'pg';

const POOL = 12;
const REVIEW = {
  type: 'object',
  required: ['template', 'payload'],
  additionalProperties: false,
  properties: {
    template: { type: 'string', maxLength: 100 },
    payload: { type: 'object' },
    idempotency_key: { type: 'string', maxLength: 255 },
  },
};
const ACTION = {
  type: 'object',
  required: ['action_id'],
  additionalProperties: false,
  properties: { action_id: { enum: ['approve', 'reject'] } },
};

const [, , url] = process.argv;
const pool = new pg.Pool({ connectionString: url, max: POOL });
const app = fastify();

app.post('/api/v1/reviews', { schema: { body: REVIEW } }, async (request, reply) => {
  const { template, payload, idempotency_key } = request.body as { template: string; payload: unknown; idempotency_key: string };
  const { rows } = await pool.query({
    name: 'insert',
    text: "insert into bench.reviews (id, template, payload, idempotency_key, status) values (uuidv7(), $1, $2, $3, 'pending') returning id, status",
    values: [template, JSON.stringify(payload), idempotency_key],
  });
  return reply.code(201).send(rows[0]);
});

app.post('/api/v1/reviews/:id/action', { schema: { body: ACTION } }, async (request, reply) => {
  const { id } = request.params as { id: string };
  const { action_id } = request.body as { action_id: string };
  const { rows } = await pool.query({
    name: 'update',
    text: "update bench.reviews set status = 'decided', decision = $2, decided_at = now() where id = $1 and status = 'pending' returning id, status",
    values: [id, action_id],
  });
  return rows[0] === undefined ? reply.code(409).send({ error: 'already decided' }) : rows[0];
});

process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
await once(process, 'disconnect');
process.exit(0);
