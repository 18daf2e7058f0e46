#include "rooftile/lab/ladder/svg_drawing.h"

namespace rooftile::lab {
namespace {

// The card has a background of its own: a page's theme and a reader's system need not agree. Contrast with
// it is at least 4.5 for text and 3 for bars and lines, in both.
constexpr std::string_view kStyle =
    "svg{font:12px -apple-system,'Segoe UI','Noto Sans',Helvetica,Arial,sans-serif}"
    ".c{fill:#fff;stroke:#d1d9e0}.t{fill:#1f2328}.h{font-size:16px;font-weight:600}.m{fill:#59636e}"
    ".n{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}.b{font-weight:700}"
    ".e{text-anchor:end}.g{stroke:#d1d9e0}.r{fill:#4a8fd3}.w{fill:#0550ae}.p{fill:#8b6a3e}"
    ".i{fill:#fff;font-size:11px}.lb{stroke:#1f2328;stroke-width:1.5}"
    ".lp{stroke:#bc4c00;stroke-width:1.5;stroke-dasharray:5 3}.tp{fill:#bc4c00}"
    "@media(prefers-color-scheme:dark){.c{fill:#0d1117;stroke:#3d444d}.t{fill:#f0f6fc}.m{fill:#9198a1}"
    ".g{stroke:#3d444d}.r{fill:#316dca}.w{fill:#79c0ff}.p{fill:#b08d5b}.i{fill:#0d1117}.lb{stroke:#f0f6fc}"
    ".lp{stroke:#f0883e}.tp{fill:#f0883e}}";

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

}  // namespace

SvgDrawing::SvgDrawing(double height) {
  add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" role=\"img\" aria-labelledby=\"t d\">\n",
      kDrawingWidth, height);
}

void SvgDrawing::head(std::string_view title, std::string_view sentence, double height) {
  add("<title id=\"t\">{}</title>\n<desc id=\"d\">{}</desc>\n<style>{}</style>\n", escaped(title),
      escaped(sentence), kStyle);
  add("<rect class=\"c\" x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"6\"/>\n", kDrawingWidth - 1,
      height - 1);
}

void SvgDrawing::text(double x, double y, std::string_view classes, std::string_view words) {
  add("<text class=\"{}\" x=\"{:.5g}\" y=\"{:.5g}\">{}</text>\n", classes, x, y, escaped(words));
}

void SvgDrawing::line(double x, double from, double to, std::string_view classes) {
  add("<path class=\"{}\" d=\"M{:.5g} {:.5g}V{:.5g}\"/>\n", classes, x, from, to);
}

void SvgDrawing::bar(double x, double y, double width, std::string_view classes) {
  add("<rect class=\"{}\" x=\"{:.5g}\" y=\"{:.5g}\" width=\"{:.5g}\" height=\"{}\" rx=\"2\"/>\n", classes, x,
      y, width, kDrawingBar);
}

}  // namespace rooftile::lab
