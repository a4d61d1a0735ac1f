import { afterAll, beforeAll, describe, it } from 'vitest'
import { edgeMissing, skipped } from '../support/edge.ts'
import { pebbleMissing } from '../support/pebble.ts'
import { february, january } from '../support/year/beginning.ts'
import { july, june, may } from '../support/year/compliance.ts'
import { december, november } from '../support/year/end.ts'
import { april, march } from '../support/year/incidents.ts'
import { october, september } from '../support/year/maintenance.ts'
import { startYear, type Year } from '../support/year/world.ts'

const missing = edgeMissing ?? pebbleMissing
const title = skipped || (pebbleMissing === undefined ? '' : ` (skipped: ${pebbleMissing})`)

/** Each test is a chapter that continues where the one before ended. */
describe.skipIf(missing)(`a year of a small host${title}`, () => {
  let year: Year
  beforeAll(async () => {
    year = await startYear()
  })
  afterAll(() => year?.stop())

  it('January: two tenants sign up, prove their domains, and their people log in', () =>
    january(year))
  it('February: a holder and the only owner of the platform lose their phones', () =>
    february(year))
  it('March: the servers restart with mail in flight, and nothing is lost or doubled', () =>
    march(year))
  it('April: a stolen login sends spam, is stopped, and the neighbour notices nothing', () =>
    april(year))
  it('May: a person is erased after the grace period, and only that person', () => may(year))
  it('June: a legal hold keeps what its custodian expunges until the release', () => june(year))
  it('July: a retention policy is previewed, taken back, and applied after its grace period', () =>
    july(year))
  it('September: a mailbox and a disk fill up, and mail flows again after both have room', () =>
    september(year))
  it('October: a certificate ends, operators are alerted before, and it is renewed', () =>
    october(year))
  it('November: a tenant leaves, and its name and mail do not stay with its successor', () =>
    november(year))
  it('December: the figures and the audit trail of the year add up', () => december(year))
})
