/** Work that takes its time. Drawn late, so that what is quick does not flicker. */
export function Progress({ label }: { label: string }) {
  return (
    <div className="progress" role="status">
      <span className="spinner" aria-hidden="true" />
      <span>{label}</span>
    </div>
  );
}
