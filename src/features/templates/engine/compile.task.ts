import { plainTextOf } from '../../../mime/plain-text.ts'
import { checkSize } from './check-source.ts'
import { linkWarnings } from './link-warnings.ts'
import { parseSource } from './liquid.ts'
import { compileMjml, isMjml } from './mjml.ts'
import { orProblem } from './template-problem.ts'

interface Written {
  subject_template: string
  html_content: string
  /** Made from the HTML when it is absent. */
  plaintext_content: string | null
}

export interface Compiled {
  /** Null when the HTML was not written in MJML. */
  compiled_html: string | null
  plaintext_content: string
  warnings: string[]
}

/** Checks a template and makes the rest of it from what its author wrote. */
export default ({ subject_template, html_content, plaintext_content }: Written) =>
  orProblem((): Compiled => {
    checkSize('subject_template', subject_template)
    checkSize('html_content', html_content)
    const compiled_html = isMjml(html_content) ? compileMjml(html_content) : null
    const html = compiled_html ?? html_content
    if (compiled_html !== null) checkSize('the compiled html_content', html)
    const text = plaintext_content ?? plainTextOf(html)
    checkSize('plaintext_content', text)
    parseSource({ subject_template, html, plaintext_content: text })
    return { compiled_html, plaintext_content: text, warnings: linkWarnings(html) }
  })
