/** A path of this inbox to come back to after signing in; `/` for anything that a browser could take for another place. */
export function safeReturnTo(text: string | null, origin: string): string {
  if (text === null || !text.startsWith('/') || /^\/[/\\]/.test(text)) return '/';
  const url = URL.parse(text, origin);
  return url?.origin === origin && !url.pathname.startsWith('/login') ? `${url.pathname}${url.search}` : '/';
}

export function loginAddress(returnTo: string): string {
  return returnTo === '/' ? '/login' : `/login?${new URLSearchParams({ return_to: returnTo })}`;
}
