import type { Review, ReviewVersion } from '@countersign/contracts';
import { useEffect, useState } from 'react';
import { useApi } from '../../api/api-context.js';
import { sentenceOf } from '../../api/failure.js';
import { Badge } from '../../elements/Badge.js';
import { Difference } from '../../elements/Difference.js';
import { Revealed } from '../../elements/Revealed.js';
import { Progress } from '../../elements/telling/Progress.js';
import { Ago } from '../../elements/time/Moment.js';
import { payloadDifference } from '../../review/difference/payload-difference.js';

/** What the agent sent before, what it was told, and what it changed. */
export function VersionHistory({ review }: { review: Review }) {
  const api = useApi();
  const [versions, setVersions] = useState<ReviewVersion[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const { id, project_id, current_version } = review;
  useEffect(() => {
    const left = new AbortController();
    api
      .call('listReviewVersions', { params: { id }, project: project_id }, left.signal)
      .then(({ items }) => {
        // One that has come since waits to be turned to.
        setVersions(items.filter(({ version }) => version <= current_version));
        setError(null);
      })
      .catch((failure: unknown) => {
        if (!left.signal.aborted) setError(failure);
      });
    return () => left.abort();
  }, [api, id, project_id, current_version]);

  return (
    <section className="versions" aria-labelledby="versions-title">
      <h2 id="versions-title" className="section-title">
        Versions
      </h2>
      {versions === null && error === null ? <Progress label="Loading versions…" /> : null}
      {error ? <p className="danger-text">{sentenceOf(error)}</p> : null}
      {versions?.slice(0, -1).map((version, index) => (
        <VersionChange
          key={version.id}
          review={review}
          version={version}
          before={versions[index + 1] as ReviewVersion}
          open={index === 0}
        />
      ))}
    </section>
  );
}

function VersionChange({
  review,
  version,
  before,
  open,
}: {
  review: Review;
  version: ReviewVersion;
  before: ReviewVersion;
  open: boolean;
}) {
  const differences = payloadDifference(before.payload, version.payload, review.template_fields);
  return (
    <details className="version" open={open}>
      <summary>
        <span className="version-name">
          Version {version.version} against {before.version}
        </span>
        <span className="muted">
          <Ago time={version.created_at} /> · {differences.length === 1 ? '1 change' : `${differences.length} changes`}
        </span>
      </summary>
      {version.feedback ? (
        <blockquote className="quote">
          <Revealed text={version.feedback} />
        </blockquote>
      ) : null}
      {differences.length === 0 ? <p className="muted">No changes.</p> : null}
      {differences.map(({ key, label, kind, pieces }) => (
        <div key={key} className="version-field">
          <h3 className="field-label">
            <Revealed text={label} /> {kind === 'changed' ? null : <Badge>{kind}</Badge>}
          </h3>
          <Difference pieces={pieces} />
        </div>
      ))}
    </details>
  );
}
