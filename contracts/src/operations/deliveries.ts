import {
  DeliveryDetail,
  DeliveryList,
  DeliveryListQuery,
  DeliveryQueued,
  DeliveryReplay,
  DeliveryReplayed,
  WebhookTest,
  WebhookTestResult,
} from '../http/delivery.js';
import { IdParams } from '../http/list.js';
import { operation } from '../operation.js';

const read = { service: 'webhooks', access: 'key_or_session', scopes: ['audit:read'], limited: false, tag: 'webhooks' } as const;
const write = { ...read, scopes: ['reviews:decide'] } as const;

export const DELIVERY_OPERATIONS = [
  operation({
    ...read,
    id: 'listDeliveries',
    method: 'GET',
    path: '/api/v1/webhooks/deliveries',
    summary: 'Webhook deliveries, newest first',
    query: DeliveryListQuery,
    responses: { 200: DeliveryList },
    errors: ['invalid_cursor', 'template_not_allowed'],
  }),
  operation({
    ...read,
    id: 'getDelivery',
    method: 'GET',
    path: '/api/v1/webhooks/deliveries/{id}',
    summary: 'One delivery with its body and attempts',
    params: IdParams,
    responses: { 200: DeliveryDetail },
    errors: ['delivery_not_found', 'template_not_allowed'],
  }),
  operation({
    ...write,
    id: 'retryDelivery',
    method: 'POST',
    path: '/api/v1/webhooks/deliveries/{id}/retry',
    summary: 'Redeliver a failed delivery',
    params: IdParams,
    responses: { 200: DeliveryQueued },
    errors: ['delivery_not_found', 'already_delivered', 'delivery_erased', 'delivery_claimed', 'template_not_allowed'],
  }),
  operation({
    ...write,
    id: 'replayDeliveries',
    method: 'POST',
    path: '/api/v1/webhooks/deliveries/replay',
    summary: 'Redeliver multiple dead letters',
    body: DeliveryReplay,
    responses: { 200: DeliveryReplayed },
    errors: ['template_not_allowed'],
  }),
  operation({
    ...write,
    id: 'testWebhook',
    method: 'POST',
    path: '/api/v1/webhooks/test',
    scopes: ['reviews:create'],
    summary: 'Send a signed test event to a URL; people also see the start of the response',
    body: WebhookTest,
    responses: { 200: WebhookTestResult },
    errors: ['invalid_callback_url'],
  }),
] as const;
