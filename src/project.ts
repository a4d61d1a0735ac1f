/**
 * The folder of the running code: `src/`, or `dist/` after the build. The build puts shared code into
 * files directly in `dist/`, so paths start here and not at the module that needs them.
 */
export const CODE = new URL('.', import.meta.url)

/** The folder of the project, with `migrations/` and `package.json`. */
export const PROJECT = new URL('..', import.meta.url)

/** The URL of a module of ours, named by its path without extension, e.g. `lib/worker-thread`. */
export const moduleUrl = (path: string): URL =>
  new URL(`${path}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, CODE)
