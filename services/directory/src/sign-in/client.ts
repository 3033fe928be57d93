/** Where a request comes from, as the gateway saw it. */
export interface Client {
  /** The peer's address; null when the gateway could not tell. */
  ip: string | null;
  userAgent: string | null;
  /** What an earlier sign-in left on this device. */
  deviceToken: string | null;
  /** It keeps cookies, so the device can be known again. */
  keepsCookies: boolean;
}
