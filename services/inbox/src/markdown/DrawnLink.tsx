import type { Element } from 'hast';
import type { ReactNode } from 'react';
import { Revealed } from '../elements/Revealed.js';
import { safeLink } from '../fields/addresses.js';
import { HostNote } from '../fields/HostNote.js';
import { leadsElsewhere, wordsOf } from './link-words.js';

interface LinkProps {
  node: Element | undefined;
  /** As it is written. */
  address: string;
  title: string | undefined;
  children: ReactNode;
}

/** A link with the address it leads to, unless its words are that address. One that may run something is only shown. */
export function DrawnLink({ node, address, title, children }: LinkProps) {
  const href = safeLink(address);
  const words = node ? wordsOf(node) : '';
  // Words that cannot be pressed, such as a picture of its own, leave the address to be.
  const wordless = words.trim() === '' || node?.children.some((child) => child.type === 'element' && child.tagName === 'img');
  const told = wordless || leadsElsewhere(words, address);
  const anchor = (content: ReactNode) =>
    href === null ? (
      <span className="link-refused">{content}</span>
    ) : (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {content}
      </a>
    );
  const target = <Revealed text={address} />;
  return (
    <>
      {wordless ? children : anchor(children)}
      {told ? (
        <span className="link-target">
          {' ('}
          {wordless ? anchor(target) : target}
          {')'}
        </span>
      ) : null}
      <HostNote address={address} />
      {href === null ? <span className="link-target"> no link</span> : null}
      {title ? (
        <span className="link-target">
          {' “'}
          <Revealed text={title} />
          {'”'}
        </span>
      ) : null}
    </>
  );
}
