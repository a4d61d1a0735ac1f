import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

export interface ListedScreen {
  path: string
  title: string
  capability?: string
}

/** The screens of a surface, read from its route table. */
export async function screensOf(
  folder: 'dashboard' | 'console' | 'mailbox',
): Promise<ListedScreen[]> {
  const { outputFiles } = await build({
    absWorkingDir: fileURLToPath(new URL('../../..', import.meta.url)),
    entryPoints: [`web/${folder}/routes.tsx`],
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    define: { LANGUAGE: '"en"' },
    logLevel: 'error',
  })
  const source = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')
  const { screens } = await import(`data:text/javascript;base64,${source}`)
  return screens.map(({ path, title, capability }: ListedScreen) => ({ path, title, capability }))
}
