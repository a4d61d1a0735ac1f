import { describe, expect, it } from 'vitest'
import * as labels from './labels.ts'

const all = [
  labels.none(),
  labels.key('read'),
  labels.key('write'),
  labels.key('admin'),
  labels.platform(),
  labels.platform({ partialToo: true }),
  labels.operator('support'),
  labels.operator('operator'),
  labels.operator('admin'),
  labels.operator('owner'),
  labels.keyOrSession(),
  labels.dashboardSession(),
  labels.mailboxSession(),
  labels.bootstrapToken('organization'),
  labels.bootstrapToken('operator'),
  labels.partialOperator(),
  labels.internal(),
]

describe('access labels', () => {
  it('have the names that the API description uses', () => {
    expect(all.map(labels.describeAuth)).toEqual([
      'None',
      'Key(read)',
      'Key(write)',
      'Key(admin)',
      'Platform(read)',
      'Platform(read)',
      'Operator(support+)',
      'Operator(operator+)',
      'Operator(admin+)',
      'Operator(owner+)',
      'Key or session',
      'Dashboard session',
      'Mailbox session',
      'X-Bootstrap-Token',
      'X-Bootstrap-Token',
      'Operator session (partial)',
      'Internal token',
    ])
  })

  it('mark every operator route and no tenant route as audited', () => {
    const audited = all.filter(labels.isConsole)
    expect(audited).toEqual([
      labels.platform(),
      labels.platform({ partialToo: true }),
      labels.operator('support'),
      labels.operator('operator'),
      labels.operator('admin'),
      labels.operator('owner'),
      labels.bootstrapToken('operator'),
      labels.partialOperator(),
    ])
  })
})
