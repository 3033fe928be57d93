import type { Page } from 'playwright-core';

/** Visible texts of the page whose colour on their ground is less than 4.5:1 (3:1 for large ones), as the browser paints them. */
export function contrastFaults(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    type Colour = [number, number, number, number];
    const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });
    const read = (css: string): Colour => {
      if (!canvas) throw new Error('No canvas.');
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = css;
      canvas.fillRect(0, 0, 1, 1);
      const [r = 0, g = 0, b = 0, a = 0] = canvas.getImageData(0, 0, 1, 1).data;
      return [r, g, b, a / 255];
    };
    const over = ([r, g, b, a]: Colour, [R, G, B]: Colour): Colour => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
    const groundOf = (element: Element | null): Colour => {
      if (element === null) return read(getComputedStyle(document.documentElement).backgroundColor);
      const own = read(getComputedStyle(element).backgroundColor);
      return own[3] === 1 ? own : over(own, groundOf(element.parentElement));
    };
    const light = ([r, g, b]: Colour): number => {
      const [R = 0, G = 0, B = 0] = [r, g, b].map((part) => {
        const share = part / 255;
        return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * R + 0.7152 * G + 0.0722 * B;
    };
    const faults = new Set<string>();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      const text = walker.currentNode.textContent?.trim();
      if (
        !element ||
        !text ||
        element.closest('[aria-hidden="true"], noscript, :disabled') ||
        !element.checkVisibility({ visibilityProperty: true })
      )
        continue;
      if (element.getBoundingClientRect().width <= 1) continue;
      // What lies under a dialog is dimmed.
      if (document.querySelector('dialog[open]') && !element.closest('dialog')) continue;
      const style = getComputedStyle(element);
      const ground = groundOf(element);
      const [a, b] = [light(over(read(style.color), ground)), light(ground)];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      const large = Number.parseFloat(style.fontSize) >= 24;
      if (ratio < (large ? 3 : 4.5)) faults.add(`${ratio.toFixed(2)}:1 for “${text.slice(0, 40)}” (${element.className})`);
    }
    return [...faults];
  });
}
