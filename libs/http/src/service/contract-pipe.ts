import { isStrict, queryValidator, type Static, type TSchema, type Validate, validator } from '@countersign/contracts';
import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import { Problem } from '../problem.js';

const NO_BODY = { code: 'validation_failed', issues: [{ path: '', message: 'is required', code: 'required' }] } as const;
const PARTS = { body: 'body', query: 'query', param: 'params', custom: 'value' } as const;

/**
 * Checks a part of a request against its contract: `@Body(contract(CreateReview))`, `@Query(contract(ReviewQuery))`, `@Param(contract(IdParams))`.
 * Keys the contract does not name are dropped, and refused where it is strict; those of a query the gateway has refused. A missing body is refused, also where nothing in it is required, and what is required in it is
 * named: a client that lost its body has not asked for the defaults. Where it may be left out, the service app has put `{}` in its place.
 * Refuses with `validation_failed` (or `feature_not_available`, decision 29): `param` is the first issue, `details` lists them.
 */
export function contract<S extends TSchema>(schema: S): PipeTransform<unknown, Static<S>> {
  let validate: { fromText: Validate<Static<S>>; fromJson: Validate<Static<S>> } | undefined;
  return {
    transform(value: unknown, { type }: ArgumentMetadata): Static<S> {
      // Compiled at the first request: schemas refer to each other, and all must have been declared.
      validate ??= { fromText: queryValidator(schema), fromJson: validator(schema, isStrict(schema) ? 'exact' : 'drop') };
      const part = PARTS[type];
      const missing = part === 'body' && value === undefined;
      const result = part === 'body' ? validate.fromJson(missing ? {} : value) : validate.fromText({ ...(value as object) });
      if (result.ok && !missing) return result.value;
      const { code, issues } = result.ok ? NO_BODY : result;
      const details = issues.map(({ path, message, code }) => ({ path: path === '' ? part : `${part}.${path}`, message, code }));
      const [first] = details;
      throw new Problem(code, `${first?.path} ${first?.message}.`, { param: first?.path, details });
    },
  };
}
