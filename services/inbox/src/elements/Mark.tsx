/** The sign of the house: a tick over the line one signs on. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect className="mark-ground" width="32" height="32" rx="8" />
      <path className="mark-tick" d="M8 14.5l5 5L24 8.5" />
      <path className="mark-line" d="M8 25h16" />
    </svg>
  );
}
