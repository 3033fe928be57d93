// Lets plain Node, which loads jest's setup files, import the workspace's TypeScript as it stands, so that no test needs a build first.
import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = new URL('../../../', import.meta.url);

registerHooks({
  resolve(specifier, context, next) {
    const own = /^@countersign\/([a-z-]+)$/.exec(specifier);
    if (own) return next(new URL(`libs/${own[1]}/src/index.ts`, root).href, context);
    if (specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL?.endsWith('.ts')) {
      const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
      if (existsSync(fileURLToPath(source))) return next(source.href, context);
    }
    return next(specifier, context);
  },
});
