// docs/telemetry.md, generated from the catalogue of metrics; with --check it is only compared. Needs a build.
import { readFileSync, writeFileSync } from 'node:fs';
import { describeMetrics } from '@countersign/telemetry';
import { ROOT } from './run.mjs';

const FILE = `${ROOT}docs/telemetry.md`;
const text = `# Telemetry

Set \`OTEL_EXPORTER_OTLP_ENDPOINT\` (such as \`http://collector:4318\`), and traces, metrics and logs are sent there by OTLP/HTTP. Not set, nothing of it is
loaded. The other settings are in [configuration.md](configuration.md). This page is generated (\`npm run telemetry\`).

A process is \`service.name\` \`countersign-<service>\`, the all-in-one \`countersign\`; with \`service.version\`, and \`service.instance.id\` anew at each start.
Which service of the all-in-one it was stands in the attribute \`countersign.service\`.

## Traces

One trace leads from a request to all that follows from it. The caller's \`traceparent\` is continued, or a trace begins at the gateway; the append's place in it
is stored with the event, and goes on in every consumer, in what consumers append, and in the first attempt of a webhook, whose POST carries
\`traceparent\` on. A later attempt begins a trace and is linked. On Kafka, \`ce_traceparent\` is where the event was appended and \`traceparent\` where it was published.

| Span | Kind | Where |
|---|---|---|
| \`<method> <route>\` | server | a request at the gateway, and at the service it was forwarded to |
| \`<method> <path template>\` | client | the gateway asks a service, each time it is sent |
| \`append <event type>\` | producer | an append to the event store; linked with its batch |
| \`append batch\` | client | appends PostgreSQL was given together (group commit); begins a trace, linked with them |
| \`<query>\` | client | a query inside of a trace, by its name or its verb and first table |
| \`publish <event type>\` | producer | the relay sends an event to Kafka |
| \`send events\` | client | the page the relay sent it with; begins a trace, linked |
| \`receive <source>\` | client | events arrive in a process; begins a trace, linked |
| \`process <group>\` | consumer | a batch of events with its transaction; begins a trace, linked with the appends |
| \`process <event type> <group>\` | consumer | one event of the batch from which something followed (a command, a delivery), in the event's trace |
| \`fire <timer>\` | internal | a timer that fell due; begins a trace |
| \`deliver <webhook type>\` | internal | an attempt to deliver a webhook |
| \`POST\` | client | its request to the receiver |

## Logs

One JSON object a line on the standard error, and the same as OTLP log records. A request leaves one line (\`request\`, level \`info\` at the gateway and
\`debug\` at the service), a delivery attempt another (\`delivery attempted\`); with \`trace_id\`, \`project_id\` and \`review_id\` where there are any.

## What is never sent

Payloads, feedback, credentials, secrets, e-mail addresses, SQL statements and parameters, addresses of clients and of webhooks beyond their origin,
the text of an error in a span. A test sends marked values through every operation and looks for them in everything that comes out.

## Metrics

Attributes have as many values as the code has services, groups, routes and outcomes. Projects, reviews, keys, people and webhook hosts are not among
them: their number grows with use, and each value is a time series kept for ever. Traces and logs have their ids.

${describeMetrics()}
The dashboard and the alert rules in \`deploy/\` use the names in the column "In Prometheus"; a histogram also has \`_sum\` and \`_count\`. Each alert names its
page in [runbooks](runbooks/).
`;

if (!process.argv.includes('--check')) writeFileSync(FILE, text);
else if (readFileSync(FILE, 'utf8') !== text) {
  console.error('docs/telemetry.md is out of date. Run `npm run telemetry`.');
  process.exitCode = 1;
}
