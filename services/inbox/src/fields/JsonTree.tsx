import type { ReactNode } from 'react';
import { Revealed } from '../elements/Revealed.js';

/** Longer texts are drawn in one colour: an element for each of their values would make the page slow. */
const COLOURED = 50_000;

/** A JSON value as text, its keys and strings told apart. Long ones scroll. */
export function JsonTree({ value, label }: { value: unknown; label: string }) {
  const text = JSON.stringify(value, null, 2);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long value is scrolled by keyboard
    <section className="scrolled" aria-label={`${label}, as JSON`} tabIndex={0}>
      <pre className="value value-json">{text.length > COLOURED ? <Revealed text={text} /> : <Node value={value} indent="" />}</pre>
    </section>
  );
}

function Node({ value, indent }: { value: unknown; indent: string }): ReactNode {
  if (typeof value === 'string') {
    return (
      <span className="json-string">
        <Revealed text={JSON.stringify(value)} />
      </span>
    );
  }
  if (typeof value !== 'object' || value === null) return <span className="json-plain">{String(value)}</span>;
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  if (entries.length === 0) return isList ? '[]' : '{}';
  const inner = `${indent}  `;
  return (
    <>
      {isList ? '[' : '{'}
      {entries.map(([key, member], index) => (
        <span key={key}>
          {`\n${inner}`}
          {isList ? null : (
            <>
              <span className="json-key">
                <Revealed text={JSON.stringify(key)} />
              </span>
              {': '}
            </>
          )}
          <Node value={member} indent={inner} />
          {index < entries.length - 1 ? ',' : ''}
        </span>
      ))}
      {`\n${indent}`}
      {isList ? ']' : '}'}
    </>
  );
}
