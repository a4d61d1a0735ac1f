// Path data for a 20 x 20 box with a stroke. Each is a constant, so that a surface contains only the
// icons that it uses.
export const mail =
  'M3.5 4.5h13a1.5 1.5 0 0 1 1.5 1.5v8a1.5 1.5 0 0 1-1.5 1.5h-13A1.5 1.5 0 0 1 2 14V6a1.5 1.5 0 0 1 1.5-1.5ZM2.5 5.5l7.5 6 7.5-6'
export const home = 'M3 9.5 10 3.5l7 6V16a1 1 0 0 1-1 1h-3.5v-5h-5v5H4a1 1 0 0 1-1-1Z'
export const globe =
  'M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15ZM2.5 10h15M10 2.5c2.5 2.2 3.5 4.8 3.5 7.5s-1 5.3-3.5 7.5c-2.5-2.2-3.5-4.8-3.5-7.5s1-5.3 3.5-7.5Z'
export const inbox =
  'M2.5 11.5 5 4h10l2.5 7.5V15a1 1 0 0 1-1 1h-13a1 1 0 0 1-1-1ZM2.5 11.5h4l1 2h5l1-2h4'
export const arrows = 'M3 7h12l-3-3M17 13H5l3 3'
export const key =
  'M12.5 3.5a4 4 0 1 1-2.9 6.8L4 16H2.5v-2.5h2v-2h2l1.6-1.6A4 4 0 0 1 12.5 3.5ZM13.5 6.5h.01'
export const people =
  'M7 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM1.5 16.5c.4-3 2.5-4.5 5.5-4.5s5.1 1.5 5.5 4.5M13 3.7a3 3 0 0 1 0 5.6M14.5 12.3c2.2.5 3.6 1.9 4 4.2'
export const bolt = 'M11 2.5 4 11.5h5l-1 6 7-9h-5Z'
export const shield = 'M10 2.5 16.5 5v5c0 3.8-2.6 6.3-6.5 7.5C6.1 16.3 3.5 13.8 3.5 10V5Z'
export const chart = 'M3 3v14h14M6.5 13V9.500M10 13V6.500M13.5 13V8'
export const building = 'M4 17.500V3.500h8v14M12 8.500h4v9M2.5 17.500h15M7 7h2M7 10.500h2M7 14h2'
export const list = 'M7 5h10M7 10h10M7 15h10M3 5h.01M3 10h.01M3 15h.01'
export const clock = 'M10 2.500a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15ZM10 6v4.300l3 1.7'
export const search = 'M8.5 3a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11ZM12.5 12.500l5 5'
export const gear =
  'M10 7a3 3 0 1 1 0 6 3 3 0 0 1 0-6ZM10 2.500V5M10 15v2.500M2.5 10H5M15 10h2.500M4.7 4.700l1.8 1.800M13.5 13.500l1.8 1.800M15.3 4.700l-1.8 1.800M6.5 13.500l-1.8 1.8'
export const server = 'M3.5 3.500h13v5h-13ZM3.5 11.500h13v5h-13ZM6 6h.01M6 14h.01'
export const alert = 'M10 3 18 16.500H2ZM10 8v4M10 14.300h.01'
export const check = 'M4 10.500l4 4 8-9'
export const plane = 'M17.5 2.5 9 11M17.5 2.5 12 17.500l-3-6.5-6.5-3Z'
export const lock = 'M5 9h10v8H5ZM7 9V6.500a3 3 0 0 1 6 0V9'
export const ban = 'M10 2.500a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15ZM4.7 4.700l10.6 10.6'
export const forward = 'M11 4l6 5.5-6 5.500v-3.500C7 11.5 4.5 12.5 2.5 16c.3-5 3.3-8.5 8.5-8.500Z'
export const filter = 'M3 4h14l-5.5 6.500V16l-3-1.500v-4Z'
export const archive = 'M3 3.500h14v4H3ZM4 7.500v9h12v-9M8 11h4'
export const file = 'M5 2.500h6l4 4v11H5ZM11 2.500v4h4'
export const menu = 'M3 5.500h14M3 10h14M3 14.500h14'
export const more = 'M4.5 10h.01M10 10h.01M15.5 10h.01'
export const plus = 'M10 4v12M4 10h12'
export const down = 'M5 7.500l5 5 5-5'
export const cross = 'M5 5l10 10M15 5 5 15'
export const webhook =
  'M7.5 8.500a3 3 0 1 1 5-1L15 12M5 12a3 3 0 1 0 3 3.500h4.500M12.5 13a3 3 0 1 1 1.5 4.5'
export const move = 'M3 10h11M10 5.500l4.5 4.5-4.5 4.500M17 3.500v13'
export const pen =
  'M12.5 4.500l3 3M3.500 16.500l.700-3.700L13.500 3.500a1.400 1.400 0 0 1 2 0l1 1a1.400 1.400 0 0 1 0 2l-9.300 9.300Z'
export const flag = 'M5 17.500v-14M5 4h9l-2 3 2 3H5'
export const clip =
  'M14.500 8.500l-6 6a2.800 2.800 0 0 1-4-4l7-7a1.900 1.900 0 0 1 2.700 2.700l-6.700 6.700a.900.900 0 0 1-1.300-1.300l5.500-5.500'
export const trash =
  'M4 5.500h12M8 5.500v-2h4v2M5.500 5.500l.800 11h7.400l.800-11M8.500 8.500v5M11.500 8.500v5'
