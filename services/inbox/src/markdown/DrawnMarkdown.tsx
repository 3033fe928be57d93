import ReactMarkdown, { type Components } from 'react-markdown';
import remarkBreaks from 'remark-breaks';
import remarkGfm from 'remark-gfm';
import { COMPLETE_HANDLERS } from './complete-handlers.js';
import { DrawnLink } from './DrawnLink.js';
import { DrawnPicture } from './DrawnPicture.js';
import { rehypeHeadings } from './headings.js';
import { rehypeRevealed } from './revealed-text.js';
import { rehypeUnshown } from './unshown.js';

const ALIGNED: Record<string, string> = { left: 'aligned-left', center: 'aligned-center', right: 'aligned-right' };

/** Addresses are of the kinds allowed, and nothing carries a style. */
const COMPONENTS: Components = {
  a: ({ node, href, title, children }) => (
    <DrawnLink node={node} address={href ?? ''} title={title}>
      {children}
    </DrawnLink>
  ),
  img: ({ src, alt = '', title }) => <DrawnPicture source={typeof src === 'string' ? src : ''} alt={alt} title={title} />,
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

/**
 * Untrusted markdown, drawn (GitHub flavour) so that the person sees what they approve.
 *
 * M1 Every part of the source is seen: raw HTML and definitions as text, where a link leads, whatever a line break separates.
 * M2 Should a part not be seen all the same, the page says so and shows the source.
 * M3 Characters that cannot be seen are named, also those written as `&zwnj;`.
 */
export function DrawnMarkdown({ text, below }: { text: string; below: number }) {
  return (
    <div className="prose">
      {/* Addresses are judged where they are used: the library's own filter knows only its own list. */}
      <ReactMarkdown
        remarkPlugins={[remarkGfm, remarkBreaks]}
        remarkRehypeOptions={{ handlers: COMPLETE_HANDLERS }}
        rehypePlugins={[[rehypeHeadings, { below }], rehypeUnshown, rehypeRevealed]}
        components={COMPONENTS}
        urlTransform={asWritten}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
}
