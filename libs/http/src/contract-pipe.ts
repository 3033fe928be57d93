import { queryValidator, type Static, type TSchema, type Validate, validator } from '@countersign/contracts';
import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import { Problem } from './problem.js';

const PARTS = { body: 'body', query: 'query', param: 'params', custom: 'value' } as const;

/**
 * Checks a part of a request against its contract: `@Body(contract(CreateReview))`, `@Query(contract(ReviewQuery))`, `@Param(contract(IdParams))`.
 * Keys the contract does not name are dropped. A missing body stands for `{}`, so that what is required in it is named.
 * Refuses with `validation_failed` (or `feature_not_available`, decision 29): `param` is the first issue, `details` lists them.
 */
export function contract<S extends TSchema>(schema: S): PipeTransform<unknown, Static<S>> {
  let validate: { fromText: Validate<Static<S>>; fromJson: Validate<Static<S>> } | undefined;
  return {
    transform(value: unknown, { type }: ArgumentMetadata): Static<S> {
      // Compiled at the first request: schemas refer to each other, and all must have been declared.
      validate ??= { fromText: queryValidator(schema), fromJson: validator(schema) };
      const part = PARTS[type];
      const result = part === 'body' ? validate.fromJson(value === undefined ? {} : value) : validate.fromText({ ...(value as object) });
      if (result.ok) return result.value;
      const details = result.issues.map(({ path, message, code }) => ({ path: path === '' ? part : `${part}.${path}`, message, code }));
      const [first] = details;
      throw new Problem(result.code, `${first?.path} ${first?.message}.`, { param: first?.path, details });
    },
  };
}
