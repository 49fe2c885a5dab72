"""Write workbooks of spreadsheets."""

import zipfile
from xml.sax.saxutils import escape


def write_workbook(path, rows):
    """The smallest workbook: one sheet, with texts and numbers in place."""
    cells = (
        "".join(
            f"<c><v>{cell}</v></c>"
            if isinstance(cell, int | float)
            else f'<c t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
            for cell in row
        )
        for row in rows
    )
    office = "http://schemas.openxmlformats.org"
    main, related = (
        f"{office}/spreadsheetml/2006/main",
        f"{office}/officeDocument/2006/relationships",
    )
    files = {
        "[Content_Types].xml": f'<Types xmlns="{office}/package/2006/content-types"/>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{related}"><sheets>'
        '<sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>',
        "_rels/.rels": f'<Relationships xmlns="{office}/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{related}/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{office}/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{related}/worksheet" Target="worksheets/a.xml"/>'
        "</Relationships>",
        "xl/worksheets/a.xml": f'<worksheet xmlns="{main}"><sheetData>'
        + "".join(f"<row>{row}</row>" for row in cells)
        + "</sheetData></worksheet>",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
