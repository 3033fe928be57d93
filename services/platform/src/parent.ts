const CHECK_MS = 200;

/**
 * Calls back once the process that started this one is gone. npm passes signals on; killed, it cannot, and what it had started would stay
 * behind unseen and hold the data directory. npm gives what it starts no channel whose end would tell; what this program starts itself has one
 * (`disconnect` in libs/service-host), which also tells of a parent that was gone before anybody looked.
 */
export function whenOrphaned(act: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    act();
  }, CHECK_MS);
  timer.unref();
}
