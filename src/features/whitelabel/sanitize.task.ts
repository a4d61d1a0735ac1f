import { safeCss } from '../../lib/safe-css.ts'
import { safeHtml } from '../../lib/safe-html.ts'
import type { Markup } from './brand.ts'

/** 300,000 characters of nested markup can take a second: runs in a worker thread. */
export default (markup: Markup): Markup => {
  const { login_page_html, footer_html, custom_css } = markup
  return {
    ...(login_page_html !== undefined && { login_page_html: safeHtml(login_page_html) }),
    ...(footer_html !== undefined && { footer_html: safeHtml(footer_html) }),
    ...(custom_css !== undefined && { custom_css: safeCss(custom_css) }),
  }
}
