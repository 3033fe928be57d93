/** Which addresses of an agent's a page may lead to or load from. */

const LINKS: readonly string[] = ['https:', 'http:', 'mailto:'];

/** The address as the browser will read it, or null for a kind that may run something or that leads into this page. */
export function safeLink(address: unknown): string | null {
  if (typeof address !== 'string') return null;
  const url = URL.parse(address.trim());
  return url !== null && LINKS.includes(url.protocol) ? url.href : null;
}

const INLINE_PICTURE = /^data:image\/(?!svg)[a-z0-9.+-]+;base64,[A-Za-z0-9+/]*={0,2}$/i;

/** A picture's address the Content Security Policy lets through: its bytes, or https. */
export function safePicture(address: unknown): string | null {
  if (typeof address !== 'string') return null;
  if (INLINE_PICTURE.test(address.trim())) return address.trim();
  const url = URL.parse(address.trim());
  return url?.protocol === 'https:' ? url.href : null;
}

/** The bytes of a `data:` video, for a blob: the policy lets no medium be loaded from `data:`. */
export function inlineVideo(address: string): Blob | null {
  const [, type, base64] = /^data:(video\/[a-z0-9.+-]+);base64,([A-Za-z0-9+/]*={0,2})$/i.exec(address.trim()) ?? [];
  if (type === undefined || base64 === undefined) return null;
  try {
    return new Blob([Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0))], { type });
  } catch {
    return null;
  }
}

/** The host a browser reads in an address, where a person may read another: after a name before `@`, in letters that look like others. */
export function hostToName(address: string): string | null {
  const url = URL.parse(address.trim());
  if (url === null || url.host === '') return null;
  const authority = /^[a-z]+:\/\/([^/?#]*)/i.exec(address.trim())?.[1];
  return authority?.toLowerCase() === url.host ? null : url.host;
}

/** What a `data:` address holds, without its bytes. */
export function sizeOf(address: string): string {
  const type = /^data:([^;,]+)/.exec(address)?.[1] ?? 'data';
  const bytes = Math.floor(((address.length - address.indexOf(',') - 1) * 3) / 4);
  return `${type}, ${bytes < 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024)} KB`}, sent with the request`;
}
