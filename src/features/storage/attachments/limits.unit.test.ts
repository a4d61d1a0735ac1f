import { describe, expect, it } from 'vitest'
import { quotaConfiguration } from '../../../hosting/quota-configuration.ts'
import { filesOf } from './files.ts'
import { attachmentProblem } from './limits.ts'

const THRESHOLDS = { STORAGE_WARNING_THRESHOLD: 80, STORAGE_CRITICAL_THRESHOLD: 95 }
const quotas = (settings: object) =>
  quotaConfiguration({ settings: [settings], limits: [] }, THRESHOLDS)
const file = (changed: object = {}) => ({
  name: 'report.pdf',
  type: 'application/pdf',
  bytes: 1000,
  isAttachment: true,
  ...changed,
})
const problem = (settings: object, ...files: ReturnType<typeof file>[]) =>
  attachmentProblem(quotas(settings), 2000, files)

describe('attachment limits', () => {
  it('accept what no setting refuses', () => {
    expect(problem({}, file())).toBeUndefined()
    expect(problem({ allowed_file_types: ['pdf'] })).toBeUndefined()
  })

  it.each([
    [{ max_attachment_size: 999 }, 'the file report.pdf is larger than 999 bytes'],
    [{ max_file_size: 999 }, 'the file report.pdf is larger than 999 bytes'],
    [{ max_email_size: 1999 }, 'the message is larger than 1999 bytes'],
    [{ blocked_file_types: ['.PDF'] }, 'the file report.pdf is of a type that is not accepted'],
    [{ blocked_file_types: ['application/*'] }, expect.stringContaining('not accepted')],
    [{ allowed_file_types: ['docx'] }, 'the file report.pdf is not of a type that is accepted'],
  ])('refuse with %j', (settings, expected) => {
    expect(problem(settings, file())).toEqual(expected)
    expect(problem({ ...settings, enforce_limits: false }, file())).toBeUndefined()
  })

  it('refuse a type whose name ends with dots or spaces', () => {
    const settings = { blocked_file_types: ['exe'] }
    expect(problem(settings, file({ name: 'setup.EXE. ' }))).toContain('not accepted')
  })

  it('accept pictures of the text beside the allowed types of attachments', () => {
    const picture = file({ name: 'logo.png', type: 'image/png', isAttachment: false })
    expect(problem({ allowed_file_types: ['pdf'] }, picture)).toBeUndefined()
  })
})

it('finds the files of a message with their decoded sizes', () => {
  const raw = [
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'see below',
    '--b',
    'Content-Type: application/pdf; name="a.pdf"',
    'Content-Disposition: attachment; filename="a.pdf"',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.alloc(1000, 7).toString('base64').replace(/.{76}/g, '$&\r\n'),
    '--b--',
    '',
  ].join('\r\n')
  expect(filesOf(Buffer.from(raw))).toEqual([
    { name: 'a.pdf', type: 'application/pdf', bytes: 1000, isAttachment: true },
  ])
})
