# The records of a release of cantle, with the labels of its code book as package haven keeps them:
#
#   source("read_release.R"); records <- read_release("release")
#   haven::as_factor(records$sex)                       # male, female
#
# It needs jsonlite, and arrow if the records are in Parquet. read_labelled("data.parquet") reads a Parquet file that left
# its folder: cantle writes the labels into the file too.

read_release <- function(folder) {
  described <- list.files(folder, pattern = "datapackage[.]json$", full.names = TRUE)  # NOT-PRIVATE.datapackage.json too
  package <- jsonlite::read_json(described[1])
  data <- package$resources[[1]]
  fields <- data$schema$fields
  path <- file.path(folder, data$path)
  if (identical(data$format, "parquet")) {
    records <- as.data.frame(arrow::read_parquet(path))
  } else {
    classes <- c(string = "character", integer = "integer", number = "numeric", boolean = "logical", date = "Date",
                 datetime = "character")
    types <- vapply(fields, function(one) classes[[one$type]], "")
    names(types) <- vapply(fields, function(one) one$name, "")
    records <- utils::read.csv(path, colClasses = types, na.strings = "", check.names = FALSE, encoding = "UTF-8")
  }
  for (one in fields) {
    listed <- Filter(function(value) is.list(value) && !is.null(value$label), one$categories)
    labels <- stats::setNames(lapply(listed, function(value) value$label),
                              vapply(listed, function(value) as.character(value$value), ""))
    records[[one$name]] <- labelled(records[[one$name]], labels, one$title)
  }
  records
}

read_labelled <- function(file) {
  table <- arrow::read_parquet(file, as_data_frame = FALSE)
  known <- jsonlite::fromJSON(table$metadata$labels, simplifyVector = FALSE)
  records <- as.data.frame(table)
  for (name in names(known)) records[[name]] <- labelled(records[[name]], known[[name]], NULL)
  records
}

labelled <- function(values, labels, title) {
  if (!is.null(title)) attr(values, "label") <- title
  if (length(labels)) {
    codes <- if (is.character(values)) names(labels) else as.numeric(names(labels))
    storage.mode(codes) <- typeof(values)
    attr(values, "labels") <- stats::setNames(codes, unlist(labels))
    class(values) <- c("haven_labelled", "vctrs_vctr", typeof(values))
  }
  values
}
