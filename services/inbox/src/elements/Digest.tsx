import { useState } from 'react';

/** A digest short enough to compare by eye, whole in its title and on the clipboard. */
export function Digest({ label, digest }: { label: string; digest: string }) {
  const [copied, setCopied] = useState(false);
  const hex = digest.replace(/^sha256:/, '');
  const copy = async () => {
    await navigator.clipboard.writeText(digest);
    setCopied(true);
  };
  return (
    <span className="digest">
      <code title={digest}>
        sha256:{hex.slice(0, 6)}…{hex.slice(-6)}
      </code>
      {navigator.clipboard ? (
        <button type="button" className="button-text" onClick={() => void copy()} aria-label={`Copy ${label}`}>
          {copied ? 'Copied' : 'Copy'}
        </button>
      ) : null}
    </span>
  );
}
