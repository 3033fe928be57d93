import { useState } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { safeLink, safePicture } from './addresses.js';

/** Pictures from elsewhere tell their host who looks, and when; so they wait to be asked for. */
function Picture({ src, alt }: { src: string; alt: string }) {
  const remote = URL.parse(src)?.protocol === 'https:';
  const [wanted, setWanted] = useState(!remote);
  if (wanted) return <img src={src} alt={alt} referrerPolicy="no-referrer" loading="lazy" />;
  return (
    <button type="button" className="button-quiet" onClick={() => setWanted(true)}>
      Show the picture{alt === '' ? '' : ` “${alt}”`} from {URL.parse(src)?.host}
    </button>
  );
}

const ALIGNED: Record<string, string> = { left: 'aligned-left', center: 'aligned-center', right: 'aligned-right' };

/** Raw HTML stays text, addresses are of the kinds allowed, and nothing carries a style. */
const COMPONENTS: Components = {
  a: ({ href, children }) => {
    const address = safeLink(href);
    if (address === null) return <span className="link-refused">{children}</span>;
    return (
      <a href={address} target="_blank" rel="noopener noreferrer nofollow" title={address}>
        {children}
      </a>
    );
  },
  img: ({ src, alt = '' }) => {
    const address = safePicture(typeof src === 'string' ? src : undefined);
    return address === null ? <span className="link-refused">{alt || 'picture'}</span> : <Picture src={address} alt={alt} />;
  },
  // Headings of a field stand below those of the page.
  h1: ({ children }) => <h4>{children}</h4>,
  h2: ({ children }) => <h5>{children}</h5>,
  h3: ({ children }) => <h6>{children}</h6>,
  h4: ({ children }) => <h6>{children}</h6>,
  h5: ({ children }) => <h6>{children}</h6>,
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled by keyboard
    <section className="scrolled" aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </section>
  ),
  th: ({ children, style }) => <th className={ALIGNED[String(style?.textAlign)]}>{children}</th>,
  td: ({ children, style }) => <td className={ALIGNED[String(style?.textAlign)]}>{children}</td>,
};

const asWritten = (address: string): string => address;

/** Untrusted markdown, drawn (GitHub flavour). */
export function DrawnMarkdown({ text }: { text: string }) {
  return (
    <div className="prose">
      {/* Addresses are judged where they are used: the library's own filter knows only its own list. */}
      <ReactMarkdown remarkPlugins={[remarkGfm]} components={COMPONENTS} urlTransform={asWritten}>
        {text}
      </ReactMarkdown>
    </div>
  );
}
