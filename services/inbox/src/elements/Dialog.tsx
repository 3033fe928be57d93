import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';

/** A modal question. The browser keeps the focus inside and gives it back; Escape closes where closing is allowed. */
export function Dialog({ title, onClose, children }: { title: string; onClose?: () => void; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Closed while it is still there: a browser gives the focus back only from a dialog it closes.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
    >
      <h2 id={heading} className="dialog-title">
        {title}
      </h2>
      {children}
    </dialog>
  );
}
