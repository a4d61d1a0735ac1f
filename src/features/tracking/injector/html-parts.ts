import { type Entity, headerOf, parseValue } from './mime.ts'

// Every byte below 128 that can begin or end a tag is that character in these, and nothing else.
const SAFE_CHARSET =
  /^(us-ascii|ascii|ansi_x3\.4-1968|utf-?8|iso[-_]?8859-\d{1,2}(-[ei])?|latin-?\d|windows-(125\d|874|31j)|cp(125\d|932)|koi8-[ru]|macintosh|tis-620|shift[-_]jis|gbk|gb2312|gb18030|big5(-hkscs)?|euc-(jp|kr)|ks_c_5601-1987)$/i

/** What is shown as the text of the message. What is signed, encrypted or attached is left alone. */
export function htmlPartsOf(entity: Entity): Entity[] {
  if (entity.type.startsWith('multipart/')) {
    if (/\/(signed|encrypted|report)$/.test(entity.type)) return []
    return entity.parts.flatMap(htmlPartsOf)
  }
  return entity.type === 'text/html' && isShown(entity) && isWritable(entity) ? [entity] : []
}

function isShown(entity: Entity): boolean {
  const sent = headerOf(entity, 'content-disposition')
  const disposition = parseValue(sent ?? 'inline')
  const isNamed = [...disposition.parameters.keys(), ...entity.parameters.keys()].some((name) =>
    /^(file)?name\b/.test(name),
  )
  return disposition.type === 'inline' && !isNamed
}

const isWritable = ({ parameters }: Entity): boolean =>
  SAFE_CHARSET.test(parameters.get('charset') ?? 'us-ascii')

export const isUtf8Part = ({ parameters }: Entity): boolean =>
  /^utf-?8$/i.test(parameters.get('charset') ?? '')
