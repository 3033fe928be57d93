/** Holds every answer against the OpenAPI document of the gateway that gave it. */
import type { OperationId } from '@countersign/contracts';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';

interface Media {
  schema?: object;
}
interface Documented {
  operationId: string;
  responses: Record<string, { $ref?: string; content?: Record<string, Media> }>;
}
export interface OpenApi {
  paths: Record<string, Record<string, Documented>>;
  components: Record<string, Record<string, unknown>>;
}

export interface Route {
  method: string;
  path: string;
}

const ROOT = 'openapi.json';

export class Answers {
  readonly #operations = new Map<string, Route & { documented: Documented }>();
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor(private readonly document: OpenApi) {
    (addFormatsModule as unknown as (ajv: Ajv2020) => void)(this.#ajv);
    this.#ajv.addSchema(document, ROOT);
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, documented] of Object.entries(methods)) {
        if (documented.operationId) this.#operations.set(documented.operationId, { method: method.toUpperCase(), path, documented });
      }
    }
  }

  route(id: OperationId): Route {
    const found = this.#operations.get(id);
    if (!found) throw new Error(`The gateway's OpenAPI document has no operation ${id}.`);
    return found;
  }

  /** @throws {Error} that says where an answer is not what the document promises. */
  check(id: OperationId, status: number, mediaType: string, body: unknown): void {
    if (status === 304) return;
    const { documented, path, method } = this.#operations.get(id) as Route & { documented: Documented };
    const named = documented.responses[status];
    if (!named) throw new Error(`${id} answered ${status}, which its document does not name: ${JSON.stringify(body)}`);
    const pointer = named.$ref ?? `#/paths/${segmentOf(path)}/${method.toLowerCase()}/responses/${status}`;
    const response = (named.$ref ? resolve(this.document, named.$ref) : named) as { content?: Record<string, Media> };
    const type = mediaType.split(';')[0] ?? '';
    if (!response.content) {
      if (body !== null) throw new Error(`${id} answered ${status} with a body; its document promises none.`);
      return;
    }
    if (!response.content[type]?.schema) throw new Error(`${id} answered ${status} as ${type}, which its document does not name.`);
    const valid = this.#validator(`${ROOT}${pointer}/content/${segmentOf(type)}/schema`);
    if (!valid(body)) throw new Error(`${id} answered ${status}: ${this.#ajv.errorsText(valid.errors)}\n${JSON.stringify(body)}`);
  }

  #validator(ref: string): ValidateFunction {
    const known = this.#compiled.get(ref) ?? this.#ajv.compile({ $ref: ref });
    this.#compiled.set(ref, known);
    return known;
  }
}

const segmentOf = (segment: string): string => encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'));

function resolve(document: object, ref: string): unknown {
  return ref
    .slice(2)
    .split('/')
    .map((segment) => decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], document);
}
