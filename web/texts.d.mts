import type { Plugin } from 'esbuild'

export function texts(folder: string, language: string): Plugin
