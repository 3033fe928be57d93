import { Suspense, useState } from 'react';
import { Guarded } from '../elements/Guarded.js';
import { Revealed } from '../elements/Revealed.js';
import { Progress } from '../elements/telling/Progress.js';
import { whyUndrawn } from './drawable.js';
import { drawing, drawingAnew, NotFetched } from './fetched-drawing.js';

export function Source({ text }: { text: string }) {
  return (
    <pre className="value value-source">
      <Revealed text={text} />
    </pre>
  );
}

/** The source of a text that is not drawn, and why it is not. */
function Undrawn({ text, why }: { text: string; why: string }) {
  return (
    <>
      <p className="field-note warning-text">{why} This is its source.</p>
      <Source text={text} />
    </>
  );
}

/** Some browsers remember that a module was not to be had until the page is loaded again. */
function Unfetched({ text, attempt, onAgain }: { text: string; attempt: number; onAgain: () => void }) {
  return (
    <>
      <p className="field-note warning-text">
        What renders this text could not be loaded. This is its source.{' '}
        <button type="button" className="button-text" onClick={onAgain}>
          Try again
        </button>
        {attempt > 1 ? ' or reload the page; your input is kept.' : null}
      </p>
      <Source text={text} />
    </>
  );
}

/** A text drawn as markdown, or its source with the reason why it is not; `below` is the level of the heading it belongs to. */
export function Drawn({ text, below }: { text: string; below: number }) {
  const [{ attempt, DrawnMarkdown }, setTried] = useState(() => ({ attempt: 1, DrawnMarkdown: drawing() }));
  const why = whyUndrawn(text);
  if (why !== null) return <Undrawn text={text} why={why} />;
  const again = () => setTried({ attempt: attempt + 1, DrawnMarkdown: drawingAnew() });
  return (
    <Guarded
      key={`${attempt} ${text}`}
      otherwise={(error) =>
        error instanceof NotFetched ? (
          <Unfetched text={text} attempt={attempt} onAgain={again} />
        ) : (
          <Undrawn text={text} why="This text cannot be rendered." />
        )
      }
    >
      <Suspense fallback={<Progress label="Rendering…" />}>
        <DrawnMarkdown text={text} below={below} />
      </Suspense>
    </Guarded>
  );
}
