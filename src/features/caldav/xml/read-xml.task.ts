import { type Element, readXml, UnusableXml } from '../../../lib/xml.ts'
import { XML_LIMITS } from './names.ts'

/** Reads a large document in a worker thread. */
export default (text: string): { root: Element } | { problem: string } => {
  try {
    return { root: readXml(text, XML_LIMITS) }
  } catch (error) {
    if (!(error instanceof UnusableXml)) throw error
    return { problem: error.message }
  }
}
