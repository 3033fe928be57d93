import { useId } from 'react';

/** Least length the server takes. */
const SHORTEST = 12;

export function NewPassword() {
  const id = useId();
  return (
    <label className="form-row" htmlFor={id}>
      <span>New password</span>
      <input
        id={id}
        className="input"
        name="new_password"
        type="password"
        autoComplete="new-password"
        required
        minLength={SHORTEST}
        maxLength={128}
        aria-describedby={`${id}-note`}
      />
      <small id={`${id}-note`} className="muted">
        At least {SHORTEST} characters. A few words are easier to remember than signs.
      </small>
    </label>
  );
}
