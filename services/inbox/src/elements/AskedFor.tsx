import { type ReactNode, useState } from 'react';

interface AskedForProps {
  /** Of what is shown: https, or its bytes. */
  address: string;
  /** What it is: picture, video. */
  what: string;
  children: ReactNode;
}

/** Something from elsewhere tells its host who looks, and when; so it waits to be asked for, each address anew. */
export function AskedFor({ address, what, children }: AskedForProps) {
  const [wanted, setWanted] = useState<string | null>(null);
  const host = remoteHost(address);
  if (host === null || wanted === address) return children;
  return (
    <button type="button" className="button" onClick={() => setWanted(address)}>
      Show the {what} from {host}
    </button>
  );
}

/** The host a medium would be loaded from; null where its bytes are here. */
export function remoteHost(address: string): string | null {
  const url = URL.parse(address);
  return url === null || url.protocol === 'data:' || url.protocol === 'blob:' ? null : url.host;
}
