// Lets plain Node, which loads jest's setup files and runs the processes some tests kill, import the workspace's TypeScript as it stands, so that
// no test needs a build first. Compiled as jest does it: Node alone only strips types, and knows neither decorators nor parameter properties.
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

const root = new URL('../../../', import.meta.url);

registerHooks({
  resolve(specifier, context, next) {
    const own = /^@countersign\/([a-z-]+)(?:\/([a-z-]+))?$/.exec(specifier);
    if (own) {
      const files = own[2] ? [own[2], `${own[2]}/${own[2]}`] : ['index'];
      const doors = ['libs/', 'services/', ''].flatMap((group) => files.map((file) => new URL(`${group}${own[1]}/src/${file}.ts`, root)));
      // What is no file of that name, such as a fixture, is where its package says.
      const door = doors.find((url) => existsSync(fileURLToPath(url)));
      return next(door?.href ?? specifier, context);
    }
    if (specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL?.endsWith('.ts')) {
      const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
      if (existsSync(fileURLToPath(source))) return next(source.href, context);
    }
    return next(specifier, context);
  },
  load(url, context, next) {
    if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context);
    const { code } = transformSync(readFileSync(fileURLToPath(url), 'utf8'), {
      filename: fileURLToPath(url),
      jsc: {
        target: 'es2024',
        parser: { syntax: 'typescript', decorators: true },
        transform: { legacyDecorator: true, decoratorMetadata: true },
        keepClassNames: true,
      },
      module: { type: 'es6' },
      sourceMaps: 'inline',
    });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
