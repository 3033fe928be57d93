import { type ConfigOf, declareSettings } from '@countersign/config';

/** The gateway's settings. What the contract fixes (heartbeat, five streams, the ticket's minute) are constants beside their code. */
export const GATEWAY_SETTINGS = declareSettings(
  'Gateway',
  {
    uiOrigin: {
      env: 'UI_ORIGIN',
      type: 'url',
      optional: true,
      meaning: 'The one other origin whose pages may call the API with credentials (CORS), such as https://inbox.example.com.',
    },
    trustProxy: {
      env: 'TRUST_PROXY',
      type: 'list',
      default: [],
      meaning: 'Addresses or CIDR ranges of proxies whose X-Forwarded-For is believed. Without them the address of the connection counts.',
    },
    bodyLimit: { env: 'BODY_LIMIT', type: 'bytes', default: '1mb', min: '1kb', max: '16mb', meaning: 'Largest request body.' },
    headersTimeout: {
      env: 'HEADERS_TIMEOUT',
      type: 'duration',
      default: '15s',
      min: '1s',
      meaning: "Time a caller has to send a request's headers.",
    },
    requestTimeout: {
      env: 'REQUEST_TIMEOUT',
      type: 'duration',
      default: '30s',
      min: '1s',
      meaning: 'Time a caller has to send a whole request, body included.',
    },
    keepAliveTimeout: {
      env: 'KEEP_ALIVE_TIMEOUT',
      type: 'duration',
      default: '65s',
      min: '1s',
      meaning: 'Time an idle connection is kept. Longer than the load balancer keeps its own.',
    },
    serviceTimeout: {
      env: 'SERVICE_TIMEOUT',
      type: 'duration',
      default: '30s',
      min: '1s',
      meaning: 'Time a service has to begin its answer, beside what the caller chose to wait.',
    },
    seenFor: {
      env: 'SEEN_FOR',
      type: 'duration',
      default: '5s',
      meaning: 'How long a credential sees its own last writes in lists without saying which they were.',
    },
    streamRecheck: {
      env: 'STREAM_RECHECK',
      type: 'duration',
      default: '2s',
      min: '50ms',
      meaning: 'How often the credentials of open streams are checked: a revoked one loses its stream within this time.',
    },
    streamBuffer: {
      env: 'STREAM_BUFFER',
      type: 'bytes',
      default: '1mb',
      min: '256kb',
      meaning: 'Bytes a reader of the stream may be behind before it is cut off.',
    },
    securityContact: {
      env: 'SECURITY_CONTACT',
      type: 'string',
      optional: true,
      meaning: 'Where vulnerabilities are reported (a URL, mailto: or tel:), for /.well-known/security.txt.',
    },
  },
  [
    (c) =>
      c.headersTimeout <= c.requestTimeout
        ? undefined
        : 'HEADERS_TIMEOUT must not exceed REQUEST_TIMEOUT: the headers are part of the request; lower the one or raise the other.',
    (c) =>
      c.uiOrigin === undefined || URL.parse(c.uiOrigin)?.origin === c.uiOrigin
        ? undefined
        : 'UI_ORIGIN must be an origin alone: scheme, host and port, without a path or a slash at the end.',
  ],
);

export type GatewayConfig = ConfigOf<typeof GATEWAY_SETTINGS.settings>;
