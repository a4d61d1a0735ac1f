import { number } from '../lib/format.ts'

const en = {
  file: 'CSV file',
  caption: 'Lines that were read',
  line: 'Line',
  problem: 'Problem',
  preview: (count: number, shown: number) =>
    shown < count
      ? `${number(count)} lines; the first ${number(shown)} are shown`
      : `${number(count)} lines`,
  badLines: (bad: number, count: number) =>
    `${number(bad)} of ${number(count)} lines have a problem; correct or delete them`,
  tooMany: (limit: number) => `At most ${number(limit)} lines at a time`,
}

const de: typeof en = {
  file: 'CSV-Datei',
  caption: 'Gelesene Zeilen',
  line: 'Zeile',
  problem: 'Problem',
  preview: (count, shown) =>
    shown < count
      ? `${number(count)} Zeilen; die ersten ${number(shown)} sind zu sehen`
      : `${number(count)} Zeilen`,
  badLines: (bad, count) =>
    `${number(bad)} von ${number(count)} Zeilen haben ein Problem; korrigieren oder löschen Sie sie`,
  tooMany: (limit) => `Höchstens ${number(limit)} Zeilen auf einmal`,
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
