import { type ConfigOf, declareSettings } from '@countersign/config';

/** The gateway's settings. What the contract fixes (heartbeat, five streams, the ticket's minute) are constants beside their code. */
export const GATEWAY_SETTINGS = declareSettings(
  'Gateway',
  {
    uiOrigin: {
      env: 'UI_ORIGIN',
      type: 'url',
      optional: true,
      meaning: 'One additional origin that may call the API with credentials (CORS), such as https://inbox.example.com.',
    },
    trustProxy: {
      env: 'TRUST_PROXY',
      type: 'list',
      default: [],
      meaning: 'IP addresses or CIDR ranges of proxies whose X-Forwarded-For header is trusted. If empty, the connection address is used.',
    },
    bodyLimit: { env: 'BODY_LIMIT', type: 'bytes', default: '1mb', min: '1kb', max: '16mb', meaning: 'Maximum request body size.' },
    headersTimeout: {
      env: 'HEADERS_TIMEOUT',
      type: 'duration',
      default: '15s',
      min: '1s',
      meaning: "Timeout for receiving a request's headers.",
    },
    requestTimeout: {
      env: 'REQUEST_TIMEOUT',
      type: 'duration',
      default: '30s',
      min: '1s',
      meaning: 'Timeout for receiving a complete request, including the body.',
    },
    keepAliveTimeout: {
      env: 'KEEP_ALIVE_TIMEOUT',
      type: 'duration',
      default: '65s',
      min: '1s',
      meaning: 'Keep-alive timeout of idle connections. Must exceed the idle timeout of a load balancer in front.',
    },
    serviceTimeout: {
      env: 'SERVICE_TIMEOUT',
      type: 'duration',
      default: '30s',
      min: '1s',
      meaning: 'Timeout for a service to start its response, in addition to the wait parameter of the request.',
    },
    seenFor: {
      env: 'SEEN_FOR',
      type: 'duration',
      default: '5s',
      meaning: 'How long after a write lists requested with the same credential wait (up to 1 s) until they include it.',
    },
    streamRecheck: {
      env: 'STREAM_RECHECK',
      type: 'duration',
      default: '2s',
      min: '50ms',
      meaning: 'How often the credentials of open event streams are rechecked. A revoked credential loses its stream within this time.',
    },
    streamBuffer: {
      env: 'STREAM_BUFFER',
      type: 'bytes',
      default: '1mb',
      min: '256kb',
      meaning: 'Maximum unsent data per event-stream client before it is disconnected.',
    },
    securityContact: {
      env: 'SECURITY_CONTACT',
      type: 'string',
      optional: true,
      meaning: 'Where to report vulnerabilities (a URL, mailto: or tel:), published in /.well-known/security.txt.',
    },
  },
  [
    (c) => (c.headersTimeout <= c.requestTimeout ? undefined : 'HEADERS_TIMEOUT must not exceed REQUEST_TIMEOUT.'),
    (c) =>
      c.uiOrigin === undefined || URL.parse(c.uiOrigin)?.origin === c.uiOrigin
        ? undefined
        : 'UI_ORIGIN must be an origin (scheme, host and port) without a path or trailing slash.',
  ],
);

export type GatewayConfig = ConfigOf<typeof GATEWAY_SETTINGS.settings>;
