import { type ReactNode, useEffect, useId, useRef } from 'react';

/** A modal question. The browser keeps the focus inside and gives it back; Escape closes where closing is allowed. */
export function Dialog({ title, onClose, children }: { title: string; onClose?: () => void; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
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
