import { Parser } from 'htmlparser2'
import mrml from 'mrml'
import { TemplateProblem } from './template-problem.ts'

/** The elements that mrml knows; it passes others on unchanged, so they would be in the mail. */
const ELEMENTS = new Set(
  `mj-accordion mj-accordion-element mj-accordion-text mj-accordion-title mj-all mj-attributes mj-body
  mj-breakpoint mj-button mj-carousel mj-carousel-image mj-class mj-column mj-divider mj-font mj-group
  mj-head mj-hero mj-image mj-navbar mj-navbar-link mj-preview mj-raw mj-section mj-social
  mj-social-element mj-spacer mj-style mj-table mj-text mj-title mj-wrapper`.split(/\s+/),
)

export const isMjml = (text: string): boolean => /^\s*<mjml[\s>]/i.test(text)

/** Compiles MJML to HTML. Liquid tags in texts and attributes stay as they are. */
export function compileMjml(source: string): string {
  checkElements(source)
  const engine = new mrml.Engine()
  try {
    const result = engine.toHtml(source)
    if (result.type === 'success') return result.content
    throw new TemplateProblem('syntax', `html_content: MJML: ${result.message}`)
  } finally {
    engine.free()
  }
}

/** Compiling calls itself for each level. */
const MAX_DEPTH = 100

function checkElements(source: string): void {
  let depth = 0
  const parser = new Parser(
    {
      onclosetag() {
        depth--
      },
      onopentagname(name) {
        if (++depth > MAX_DEPTH) {
          throw new TemplateProblem('limit', 'html_content: the elements are nested too deeply')
        }
        if (name === 'mj-include') {
          throw new TemplateProblem('syntax', 'html_content: mj-include is not allowed')
        }
        if (name.startsWith('mj-') && !ELEMENTS.has(name)) {
          throw new TemplateProblem('syntax', `html_content: unknown element ${name.slice(0, 60)}`)
        }
      },
    },
    { recognizeSelfClosing: true },
  )
  parser.write(source)
  parser.end()
}
