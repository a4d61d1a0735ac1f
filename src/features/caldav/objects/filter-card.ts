import { childOf, childrenOf, type Element, textOf } from '../../../lib/xml.ts'
import { CARDDAV } from '../xml/names.ts'
import { type CardLine, cardLines } from './card.ts'

/** Returns whether a card matches the filter of an addressbook-query (RFC 6352 section 10.5). */
export function matchesCard(text: string, filter: Element): boolean {
  const lines = cardLines(text)
  const filters = childrenOf(filter, CARDDAV, 'prop-filter')
  if (filters.length === 0) return true
  const matches = (one: Element) => propertyMatches(lines, one)
  return filter.attributes.test === 'allof' ? filters.every(matches) : filters.some(matches)
}

const isUndefined = (filter: Element) => childOf(filter, CARDDAV, 'is-not-defined') !== undefined

function propertyMatches(lines: readonly CardLine[], filter: Element): boolean {
  const name = filter.attributes.name?.toUpperCase()
  const properties = lines.filter((line) => line.name === name)
  if (isUndefined(filter)) return properties.length === 0
  if (properties.length === 0) return false
  const conditions = [
    ...childrenOf(filter, CARDDAV, 'text-match').map(
      (match) => () => properties.some(({ value }) => textMatches(value, match)),
    ),
    ...childrenOf(filter, CARDDAV, 'param-filter').map(
      (one) => () => parameterMatches(properties, one),
    ),
  ]
  if (conditions.length === 0) return true
  const holds = (condition: () => boolean) => condition()
  return filter.attributes.test === 'allof' ? conditions.every(holds) : conditions.some(holds)
}

function parameterMatches(properties: readonly CardLine[], filter: Element): boolean {
  const name = filter.attributes.name?.toUpperCase() ?? ''
  const values = properties.flatMap(({ parameters }) => parameterValues(parameters, name))
  if (isUndefined(filter)) return values.length === 0
  const match = childOf(filter, CARDDAV, 'text-match')
  return values.some((value) => !match || textMatches(value, match))
}

const parameterValues = (parameters: string, name: string): string[] =>
  parameters.split(';').flatMap((one) => {
    const equals = one.indexOf('=')
    if (equals === -1 || one.slice(0, equals).toUpperCase() !== name) return []
    return one.slice(equals + 1).split(',')
  })

function textMatches(text: string, match: Element): boolean {
  const isExact = match.attributes.collation === 'i;octet'
  const fold = (value: string) => (isExact ? value : value.toLowerCase())
  const value = fold(text)
  const wanted = fold(textOf(match))
  const found = comparison(match.attributes['match-type'])(value, wanted)
  return match.attributes['negate-condition'] === 'yes' ? !found : found
}

function comparison(type = 'contains'): (value: string, wanted: string) => boolean {
  switch (type) {
    case 'equals':
      return (value, wanted) => value === wanted
    case 'starts-with':
      return (value, wanted) => value.startsWith(wanted)
    case 'ends-with':
      return (value, wanted) => value.endsWith(wanted)
    default:
      return (value, wanted) => value.includes(wanted)
  }
}
