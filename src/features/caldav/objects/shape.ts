import ICAL from 'ical.js'
import { childOf, childrenOf, type Element } from '../../../lib/xml.ts'
import { CALDAV } from '../xml/names.ts'
import { isForLater, parseCalendar, partsOf } from './calendar.ts'
import { expand } from './expand.ts'
import { touches } from './instances.ts'
import {
  endAfter,
  lengthOf,
  periodOf,
  secondsOf,
  type TimeRange,
  timeIn,
  type Zone,
} from './times.ts'

interface Bounds {
  from: number
  to: number
}

/** The form of the data that a report asks for (RFC 4791 section 9.6). */
export interface Shape {
  /** The range of which the instances are returned instead of the rule. */
  expand?: Bounds
  /** The range of which the exceptions are returned. */
  limitRecurrences?: Bounds
  /** The range of which the busy times of a VFREEBUSY are returned. */
  limitBusy?: Bounds
  /** The components and properties that are returned. */
  comp?: Element
}

export function shaped(text: string, shape: Shape, zone: Zone): string {
  let root = parseCalendar(text)
  if (shape.expand) root = expand(root, { ...shape.expand, zone })
  if (shape.limitRecurrences) dropExceptions(root, { ...shape.limitRecurrences, zone })
  if (shape.limitBusy) dropBusyTimes(root, shape.limitBusy)
  if (shape.comp?.attributes.name?.toLowerCase() === root.name) root = selected(root, shape.comp)
  return `${root.toString()}\r\n`
}

/** Exceptions count by their own time and by the time of the instance that they replace. */
function dropExceptions(root: ICAL.Component, range: TimeRange): void {
  const { zone } = range
  const master = partsOf(root).find((part) => !part.hasProperty('recurrence-id'))
  for (const part of partsOf(root)) {
    const id = timeIn(part, 'recurrence-id')
    if (!id || isForLater(part)) continue
    const [start, end] = periodOf(part, zone)
    const replaced = {
      start: secondsOf(id, zone),
      end: endAfter(id, lengthOf(master ?? part, zone), zone),
    }
    if (!touches({ start, end }, range) && !touches(replaced, range)) root.removeSubcomponent(part)
  }
}

function dropBusyTimes(root: ICAL.Component, range: TimeRange): void {
  for (const part of root.getAllSubcomponents('vfreebusy')) {
    for (const property of part.getAllProperties('freebusy')) {
      const periods = property.getValues().filter((value) => value instanceof ICAL.Period)
      const inRange = periods.filter((one) =>
        touches({ start: one.start.toUnixTime(), end: one.getEnd().toUnixTime() }, range),
      )
      if (inRange.length === 0) part.removeProperty(property)
      else property.setValues(inRange)
    }
  }
}

/** The selected properties and components. A selection that names none selects all. */
function selected(component: ICAL.Component, selection: Element): ICAL.Component {
  const named = (name: string) =>
    new Map(childrenOf(selection, CALDAV, name).map((one) => [nameOf(one), one]))
  const has = (name: string) => childOf(selection, CALDAV, name) !== undefined
  if (!['prop', 'allprop', 'comp', 'allcomp'].some(has)) return component
  const [properties, components] = [named('prop'), named('comp')]
  const result = new ICAL.Component(component.name)
  // Adding a property to the result takes it out of the component.
  for (const property of [...component.getAllProperties()]) {
    const asked = properties.get(property.name)
    const isBare = asked?.attributes.novalue === 'yes'
    if (asked || has('allprop')) result.addProperty(isBare ? withoutValue(property) : property)
  }
  for (const child of [...component.getAllSubcomponents()]) {
    const asked = components.get(child.name)
    if (asked) result.addSubcomponent(selected(child, asked))
    else if (has('allcomp')) result.addSubcomponent(child)
  }
  return result
}

const nameOf = ({ attributes }: Element): string => attributes.name?.toLowerCase() ?? ''

function withoutValue(property: ICAL.Property): ICAL.Property {
  const [name, parameters] = property.toJSON() as unknown[]
  return new ICAL.Property([name, parameters, 'unknown', ''] as never)
}
